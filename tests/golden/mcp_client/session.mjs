// One session with a client library as its users have it: session.mjs MODE PROGRAM FOLDER prints what it got as JSON.
// MODE: legacy, auto or a version to pin (the library of both generations), or sdk (the one before it).
const [mode, command, folder] = process.argv.slice(2);
const name = mode === "sdk" ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
const { Client } = await import(mode === "sdk" ? `${name}/index.js` : name);
const { StdioClientTransport } = await import(mode === "sdk" ? `${name}/stdio.js` : `${name}/stdio`);
const negotiation = mode === "legacy" || mode === "auto" ? mode : { pin: mode };
const client = new Client({ name: "test", version: "1" }, mode === "sdk" ? {} : { versionNegotiation: { mode: negotiation } });
await client.connect(new StdioClientTransport({ command, args: ["mcp", folder] }));

const call = async (tool, given) => {
  const { content, isError } = await client.callTool({ name: tool, arguments: given });
  return { text: content.map((block) => block.text).join(""), isError };
};
const listed = await call("list_indexes", {});
const index = JSON.parse(listed.text).rows[0][0];
const first = await call("table", { index, report: "kernels", limit: 2 });
const { nextCursor } = JSON.parse(first.text);
const answer = {
  era: mode === "sdk" ? "legacy" : client.getProtocolEra(),
  server: client.getServerVersion().name,
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  index,
  first,
  second: await call("table", { index, report: "kernels", limit: 2, cursor: nextCursor }),
  report: await call("report", { index }),
  wrong: await call("report", { index: "no such trace" }),
  at_once: await Promise.all([1, 2, 3, 4, 5, 6].map(() => call("explain", { topic: "kernels" }))),
};
await client.close();
console.log(JSON.stringify(answer));
