#!/usr/bin/env node
process.stdin.on("end", () => process.exit(0)).resume()
