import { isObject } from "@signalbox/protocol/envelope"
import type { ToolRow } from "@signalbox/protocol/transcript"
import { oneLine } from "../../design/visible-characters.ts"
import { shortPath } from "../../design/words.ts"
import { SafeLink } from "../markdown.tsx"
import { OutputText } from "../output-text.tsx"
import { Pictures } from "../pictures.tsx"
import { resultText, textIn } from "./tool-words.ts"

/** What the model was told, by kind: text, pictures, links to resources. */
export function ResultBody({ row, from }: { readonly row: ToolRow; readonly from: "start" | "end" }) {
  if (row.result === undefined) return null
  const { content, isError } = row.result
  return (
    <>
      <OutputText text={resultText(content)} from={from} {...(isError ? { tone: "danger", label: "Error" } : {})} />
      <Pictures content={content} name={pictureName(row)} />
      <Resources content={content} />
    </>
  )
}

function pictureName({ name, input }: ToolRow): string {
  const path = textIn(input, "file_path")
  return path === undefined ? `Image from ${name === "" ? "a tool" : name}` : oneLine(shortPath(path, 1), 80)
}

/** Where a server says that more can be read. */
function Resources({ content }: { readonly content: unknown }) {
  const links = (Array.isArray(content) ? content : []).filter(isObject).filter(({ type }) => type === "resource_link")
  if (links.length === 0) return null
  return (
    <ul aria-label="Resources" className="flex flex-col text-dense">
      {links.map((link, index) => {
        const uri = textIn(link, "uri") ?? ""
        return (
          <li key={index}>
            <SafeLink href={uri}>{oneLine(textIn(link, "title") ?? textIn(link, "name") ?? uri, 160)}</SafeLink>
          </li>
        )
      })}
    </ul>
  )
}
