"""urlfrontier: a crawl's schedule by the URLFrontier protocol (gRPC), for StormCrawler and other clients of it."""
