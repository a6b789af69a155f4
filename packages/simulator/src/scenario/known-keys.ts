import { isObject } from "@signalbox/protocol/envelope"

/** A place in the JSON schema, as far as keys are looked up in it. */
type Place = Readonly<Record<string, unknown>>

/** The keys that may stand in the object at this path, those of the kind its author had in mind first. */
export function keysAt(schema: Place, path: readonly (string | number)[], value: unknown): string[] {
  const places = path.reduce((found, key) => found.flatMap((place) => within(place, key)), [schema])
  const objects = places.flatMap(members).filter((place) => isObject(place["properties"]))
  const written = isObject(value) ? Object.keys(value) : []
  const meant = objects.filter((place) => written.includes(firstKey(place)))
  return [...new Set((meant.length > 0 ? meant : objects).flatMap(keysOf))]
}

function within(place: Place, key: string | number): Place[] {
  return members(place).flatMap((member) => {
    if (typeof key === "number") return placeIn(member["items"])
    const properties = member["properties"]
    const own = isObject(properties) ? properties[key] : undefined
    return placeIn(own ?? member["additionalProperties"])
  })
}

function placeIn(value: unknown): Place[] {
  return isObject(value) ? [value] : []
}

/** The kinds of a union; of anything else, itself. */
function members(place: Place): Place[] {
  const any = place["anyOf"]
  return Array.isArray(any) ? any.filter(isObject).flatMap(members) : [place]
}

function keysOf(place: Place): string[] {
  return Object.keys(isObject(place["properties"]) ? place["properties"] : {})
}

/** What tells a kind of step from the others stands first in it. */
function firstKey(place: Place): string {
  return keysOf(place)[0] ?? ""
}
