// The command line has what it waited for: this tab forgets it.
"use strict";

sessionStorage.removeItem("verdict.returning");
