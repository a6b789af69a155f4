import { isObject } from "@signalbox/protocol/envelope"
import { useEffect, useState } from "react"
import { useConnection, useHub } from "../../app/hub-context.ts"
import { Notice } from "../../design/notice.tsx"

/** Where the policy lets tools be approved without anybody being asked, whoever looks for what waits is told so. */
export function AutoApproval() {
  const hub = useHub()
  const isLive = useConnection().name === "live"
  const [isOn, setOn] = useState(false)
  useEffect(() => {
    if (!isLive) return
    hub.request({ method: "GET", path: "/api/policy", repeatable: true }).then(
      (policy) => setOn(isObject(policy) && policy["relayAutoApproval"] === true),
      () => undefined,
    )
  }, [hub, isLive])
  if (!isOn) return null
  return (
    <Notice tone="caution">
      Sessions of plain relay frontends approve every tool by themselves: the hub's policy says so (relayAutoApproval).
    </Notice>
  )
}
