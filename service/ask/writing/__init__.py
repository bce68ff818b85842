"""What is written of what was found: one module for each intent, none of which knows the others."""
