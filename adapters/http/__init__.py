"""HTTP: addresses, limits and signatures of outgoing calls; which incoming ones are refused for their origin."""
