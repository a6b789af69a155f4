import { mkdirSync, mkdtempSync } from "node:fs"
import { join } from "node:path"
import { openClaude } from "@signalbox/transport"
import { claudeEnvironment, openScriptedApi } from "@signalbox/simulator"
import { composeAllow, composeRequest, composeUserMessage, encode } from "@signalbox/protocol"
const scen = process.argv[2] ?? "single"
const ver = process.argv[3] ?? "2.1.325"
const folder = mkdtempSync("/tmp/obs/w-"); const home=join(folder,"home"), cwd=join(folder,"p"); mkdirSync(home); mkdirSync(cwd)
const T=(say:string)=>({steps:[{say}]})
const scenarios: any = {
 single: {turns:[T("one"),T("two"),T("three")]},
 two: {turns:[{steps:[{pause:300},{say:"one"}]},T("two"),T("three")]},
 onresult: {turns:[T("one"),T("two"),T("three")]},
 bg: {turns:[{steps:[{tool:"Bash",input:{command:"sleep 2; echo done",run_in_background:true}},{say:"started"}]},T("after bg"),T("three")]},
 slow: {turns:[{steps:[{pause:1500},{say:"one"}]},T("two"),T("three")]},
 agent: {turns:[{steps:[{tool:"Agent",input:{description:"d",prompt:"do it",subagent_type:"general-purpose",run_in_background:true}},{say:"started"}]},T("after bg"),T("three")], side:{agent:"sub"}},
}
const api = await openScriptedApi({scenario: scenarios[scen]})
const { ensureClaude } = await import("/work/main/scripts/claude-cli.mjs")
const c = await ensureClaude(ver)
const a = await openClaude({executable: c.args[0] ?? c.command, cwd, baseEnv: claudeEnvironment({home,apiUrl:api.url,extra:{CLAUDE_CODE_SDK_READS_SESSION_STATE:"1"}}), flags:{permissionPromptTool:"stdio",settingSources:[]}})
const t0=performance.now(); const at=()=>String(Math.round(performance.now()-t0)).padStart(5)
const send=(m:any)=>{console.log(at(),"→",encode(m).slice(0,150)); return a.send(encode(m))}
await send(composeRequest("i",{subtype:"initialize"}))
await send(composeUserMessage("m1"))
if(scen==="two") await send(composeUserMessage("m2"))
if(scen==="slow") setTimeout(()=>{void send(composeUserMessage("m2"));void send(composeUserMessage("m3"))},700)
let results=0
for await (const line of a.lines){ const m=JSON.parse(line); 
 let s=m.type+(m.subtype?"/"+m.subtype:"")
 if(m.type==="system"&&m.subtype!=="init") s+=" "+JSON.stringify({...m,type:undefined,subtype:undefined,uuid:undefined,session_id:undefined}).slice(0,400)
 if(m.type==="result") { s+=" "+JSON.stringify({result:m.result,queued:m.queued_turn_count,idx:m.result_index,uu:m.user_message_uuids,resume:m.resume_reason,tr:m.terminal_reason,origin:m.origin}); results++; if(scen==="onresult"&&results===1) void send(composeUserMessage("m2")); }
 if(m.type==="control_request") { s+=" "+m.request.subtype; if(m.request.subtype==="can_use_tool") await send(composeAllow({request_id:m.request_id,input:m.request.input,tool_use_id:m.request.tool_use_id})) }
 console.log(at(),"←",s)
 const lim = 6000
 if(m.type==="result") setTimeout(()=>{console.log(at(),"END INPUT");a.endInput()}, lim)
}
console.log(at(),await a.closed); await api.close(); process.exit(0)
