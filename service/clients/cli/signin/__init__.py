"""`verdict login` and `verdict logout`: what is typed and told; how it is done is known in `clients/signin`."""
