import type { ComponentType } from "react"
import type { ScreenProps } from "../app/router.tsx"
import { AuditEntry } from "./audit-entry.tsx"
import { AuditScreen } from "./audit-screen.tsx"
import { GrantsScreen } from "./grants-screen.tsx"
import { RuleEditor } from "./rule-editor.tsx"
import { RulesScreen } from "./rules-screen.tsx"
import { TestScreen } from "./test-screen.tsx"
import { VersionsScreen } from "./versions-screen.tsx"

const PAGES: ReadonlyMap<string, ComponentType> = new Map([
  ["edit", RuleEditor],
  ["test", TestScreen],
  ["grants", GrantsScreen],
  ["versions", VersionsScreen],
])

/** The screens below `/policy`; a page that is unknown shows the rules. */
export function PolicyScreen({ params }: ScreenProps) {
  const Page = PAGES.get(params["page"] ?? "") ?? RulesScreen
  return <Page />
}

export function AuditScreens({ params }: ScreenProps) {
  return params["id"] === undefined ? <AuditScreen /> : <AuditEntry params={params} />
}
