import { isObject } from "@signalbox/protocol/envelope"
import type { ToolRow } from "@signalbox/transcript"
import { oneLine } from "../../design/visible-characters.ts"
import { DocumentCard } from "../content/document-card.tsx"
import { documentsOf, picturesOf } from "../content/documents.tsx"
import { SafeLink } from "../content/markdown.tsx"
import { OutputText } from "../content/output-text.tsx"
import { Pictures } from "../content/pictures.tsx"
import { resultText, textIn } from "./tool-words.ts"

/** What the model was told, by kind: text, pictures, links to resources. */
export function ResultBody({ row, from }: { readonly row: ToolRow; readonly from: "start" | "end" }) {
  if (row.result === undefined) return null
  const { content, isError, structured } = row.result
  // "PDF file read: …" says what the card below says better.
  const isDocument = !isError && ["pdf", "parts"].includes(textIn(structured, "type") ?? "")
  const isStopped = row.state === "interrupted"
  // What the model is told of it then says less than the row's state, and not as it was.
  const isRejection = isStopped && resultText(content).startsWith("The user doesn't want to proceed")
  const text = isDocument || isRejection ? "" : resultText(content)
  return (
    <>
      <OutputText text={text} from={from} {...(isError && !isStopped ? { tone: "danger", label: "Error" } : {})} />
      <Pictures pictures={picturesOf(row)} />
      {documentsOf(row).map((document, index) => (
        <DocumentCard key={index} document={document} />
      ))}
      <Resources content={content} />
    </>
  )
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
