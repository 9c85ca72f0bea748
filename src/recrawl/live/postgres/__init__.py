"""A crawl's store in a PostgreSQL database: the same statements, said in PostgreSQL's words."""
