"""schedule: policies, which choose the next pages to visit within a budget."""
