import { Search } from "../search.ts"

/** Full-text search in the database that has the log. Somebody must close it. */
export function openPostgresSearch(url: string): Search {
  return new Search({ url }, new URL("./search-thread.js", import.meta.url))
}
