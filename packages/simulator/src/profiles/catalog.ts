import { readFileSync } from "node:fs"
import type { Catalog } from "./profile.ts"

/** What a version tells of itself, as it is kept in `catalogs`: names are the wire's, descriptions our own words. */
export function readCatalog(version: string): Catalog {
  return JSON.parse(readFileSync(new URL(`../../catalogs/${version}.json`, import.meta.url), "utf8"))
}
