import type { SearchQuery as ApiSearchQuery } from "@signalbox/protocol/hub-api"

/** `fields` is the query's `in`. */
export interface SearchQuery extends Omit<ApiSearchQuery, "in"> {
  readonly fields?: NonNullable<ApiSearchQuery["in"]>
}
