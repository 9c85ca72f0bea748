"""fetch: ask the live web, politely. Every answer and every failure is a typed result, never an exception."""
