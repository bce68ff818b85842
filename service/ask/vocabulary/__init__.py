"""The words of this service: a row each, by topic. Figures are those of the rules' own tables where possible."""
