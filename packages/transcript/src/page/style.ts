/** The whole look of an exported page. Colours by the reader's own setting; nothing is loaded from anywhere. */
export const STYLE = `
:root{color-scheme:light dark;--canvas:oklch(.985 .004 95);--surface:#fff;--sunken:oklch(.962 .006 95);--line:oklch(.905 .008 95);
--text:oklch(.24 .015 255);--text-2:oklch(.43 .015 255);--text-3:oklch(.5 .015 255);--accent:oklch(.5 .135 256);
--caution:oklch(.49 .105 68);--clear:oklch(.47 .115 152);--danger:oklch(.51 .185 27);--danger-soft:oklch(.955 .018 22);
--add:oklch(.955 .045 152);--del:oklch(.95 .022 22)}
@media (prefers-color-scheme:dark){:root{--canvas:oklch(.175 .01 255);--surface:oklch(.212 .012 255);--sunken:oklch(.148 .009 255);--line:oklch(.318 .015 255);
--text:oklch(.935 .008 255);--text-2:oklch(.79 .012 255);--text-3:oklch(.7 .014 255);--accent:oklch(.75 .115 252);
--caution:oklch(.84 .135 84);--clear:oklch(.8 .15 153);--danger:oklch(.745 .145 25);--danger-soft:oklch(.3 .06 22);
--add:oklch(.285 .055 153);--del:oklch(.29 .065 22)}}
*{box-sizing:border-box}
html{background:var(--canvas);color:var(--text);font:15px/1.6 system-ui,sans-serif;-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:24px 16px 64px;max-width:860px}
h1{font-size:22px;line-height:30px;font-weight:650;margin:0 0 8px;overflow-wrap:anywhere}
h2{font-size:13px;font-weight:650;margin:24px 0 8px;color:var(--text-2)}
h3,h4,h5{line-height:1.4;margin:16px 0 4px;font-weight:650}h3{font-size:18px}h4{font-size:16px}h5{font-size:15px}
p,ul,ol,blockquote,pre,.wide{margin:8px 0}a{color:var(--accent)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:0;font-size:13px;color:var(--text-2)}
dt{color:var(--text-3)}dd{margin:0;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
nav ol{margin:0;padding:0;list-style:none;font-size:13px}nav li{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
main{margin-top:24px;border-top:1px solid var(--line);padding-top:8px}
code,pre,kbd{font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--sunken);border-radius:4px;padding:1px 4px;overflow-wrap:anywhere}
pre{background:var(--sunken);border-radius:6px;padding:10px 12px;overflow:auto;max-height:70vh;white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4}
pre code{background:none;padding:0}.code{white-space:pre;overflow-wrap:normal}
ul,ol{padding-left:1.6em}li>ul,li>ol,li>p{margin:2px 0}li::marker{color:var(--text-3)}
.todos{padding:0;list-style:none}.mark{display:inline-block;min-width:1.4em;color:var(--text-3)}
blockquote{border-left:3px solid var(--line);padding-left:12px;margin-left:0;color:var(--text-2)}
hr{border:0;border-top:1px solid var(--line);margin:16px 0}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px}th,td{border:1px solid var(--line);padding:4px 8px;text-align:left;vertical-align:top}
.row{margin:10px 0;scroll-margin-top:16px}.row:target{outline:2px solid var(--accent);outline-offset:4px;border-radius:6px}
.prompt{background:var(--surface);border:1px solid var(--line);border-left:3px solid var(--accent);border-radius:6px;padding:10px 14px;margin:28px 0 14px}
.prompt .who{font-size:13px;font-weight:650;color:var(--accent);display:flex;gap:8px;align-items:baseline}
.said{white-space:pre-wrap;overflow-wrap:anywhere;margin:2px 0 0}
time,.host,.meta{font-size:12px;font-weight:400;color:var(--text-3);font-variant-numeric:tabular-nums}
.prompt time{margin-left:auto}
.text,.prompt{overflow-wrap:anywhere}
details>summary{cursor:pointer;list-style:none;display:flex;gap:8px;align-items:baseline;border-radius:6px;padding:3px 6px;margin-left:-6px}
details>summary::-webkit-details-marker{display:none}
details>summary::before{content:"▸";color:var(--text-3);font-size:12px;flex:none}details[open]>summary::before{content:"▾"}
summary:hover{background:var(--sunken)}summary:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
summary .verb{font-weight:550;flex:none}summary .target{font:13px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;min-width:0;color:var(--text-2)}
summary .meta{margin-left:auto;flex:none;padding-left:8px}
.tool,.activity,.thinking{font-size:14px}.inside{border-left:1px solid var(--line);margin-left:4px;padding-left:14px}
.thinking{color:var(--text-3)}.thinking .said{font-style:italic}
.bad{color:var(--danger)}.good{color:var(--clear)}.warn{color:var(--caution)}
.errline{color:var(--danger);font-size:13px;margin:0 0 0 20px;overflow-wrap:anywhere}
.small{font-size:13px;color:var(--text-3);white-space:pre-line;overflow-wrap:anywhere}
.failure{background:var(--danger-soft);border-radius:6px;padding:10px 14px;color:var(--danger)}
.across{display:flex;align-items:center;gap:12px;font-size:13px;color:var(--text-3);margin:18px 0}
.across::before,.across::after{content:"";flex:1;border-top:1px solid var(--line)}.across::before{flex:0 0 24px}
.diff{padding:6px 0}.diff span{display:block;padding:0 12px;white-space:pre-wrap}.diff .add{background:var(--add)}.diff .del{background:var(--del)}.diff .at{color:var(--text-3)}
.label{font-size:12px;color:var(--text-3);margin:8px 0 0}
.retracted{opacity:.65;text-decoration:line-through}img{max-width:100%;max-height:360px;border-radius:6px;display:block;margin:8px 0}
footer{margin-top:48px;border-top:1px solid var(--line);padding-top:12px;font-size:12px;color:var(--text-3)}
@media (max-width:600px){body{padding:16px 12px 48px}dl{gap:2px 12px}.prompt{padding:8px 12px}}
@media print{pre{max-height:none}details>summary{break-after:avoid}}
`.trim()

/** The SHA-256 of the style, by which a page's own policy allows it: a test recomputes it. */
export const STYLE_HASH = "TvkpeapJ4f+QfvsRHXFa0eAdWKGv0FU35NV/Yscuy7w="
