#!/usr/bin/env node
process.stderr.write("cannot find my config\nin the usual place\n")
process.exitCode = 1
