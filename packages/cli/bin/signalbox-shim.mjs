#!/usr/bin/env node
import { main } from "../dist/main.js"

await main(["shim", ...process.argv.slice(2)], process.env)
