"""classical: change-rate estimators, and the policies of published crawlers that use them."""
