import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { given } from "./entry.ts"
import type { JsonObject, PictureSource } from "./row.ts"

export function pictureOf(block: JsonObject): PictureSource {
  const source = fieldOf(block, "source")
  const mediaType = textOf(source, "media_type") ?? "application/octet-stream"
  return { mediaType, ...given({ data: textOf(source, "data"), url: textOf(source, "url") }) }
}

/** The text of a message's content, whether it is one text or blocks. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content
    .filter(isObject)
    .flatMap((block) => (block["type"] === "text" ? (textOf(block, "text") ?? []) : []))
    .join("\n")
}

export function contentPictures(content: unknown): readonly PictureSource[] {
  if (!Array.isArray(content)) return []
  return content
    .filter(isObject)
    .filter((block) => block["type"] === "image")
    .map(pictureOf)
}
