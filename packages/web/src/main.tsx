// oxlint-disable-next-line import/no-unassigned-import -- a style sheet has nothing to assign
import "./design/design.css"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { HubContext } from "./app/hub-context.ts"
import { HubStore } from "./app/hub-store.ts"
import { fitToKeyboard } from "./app/keyboard.ts"
import { wearPreferences } from "./app/preferences.ts"
import { App } from "./shell/app.tsx"

wearPreferences()
fitToKeyboard()

const root = document.getElementById("root")
if (root === null) throw new Error("the page has no root")
const store = new HubStore(location.origin)

createRoot(root).render(
  <StrictMode>
    <HubContext.Provider value={store}>
      <App />
    </HubContext.Provider>
  </StrictMode>,
)
