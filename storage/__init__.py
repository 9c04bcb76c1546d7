"""What people own (PostgreSQL) and what documents contain (files). Every function takes the tenant it acts for."""
