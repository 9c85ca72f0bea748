// A foreign client of the frontier: node frontier_client.js PROTO ADDRESS; prints "passed".
"use strict";
const assert = require("assert");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [proto, address] = process.argv.slice(2);
const types = loader.loadSync(proto, { keepCase: true, longs: Number, enums: String, defaults: true, oneofs: true });
const { URLFrontier } = grpc.loadPackageDefinition(types).urlfrontier;
const client = new URLFrontier(address, grpc.credentials.createInsecure());

const ask = (name, message) =>
  new Promise((done, failed) => client[name](message, (error, answer) => (error ? failed(error) : done(answer))));
const read = (stream) =>
  new Promise((done, failed) => {
    const found = [];
    stream.on("data", (each) => found.push(each)).on("end", () => done(found)).on("error", failed);
  });
const send = (name, messages) => {
  const stream = client[name]();
  const answers = read(stream);
  messages.forEach((message) => stream.write(message));
  stream.end();
  return answers;
};

async function main() {
  const now = Math.floor(Date.now() / 1000);
  const items = [0, 1, 2].map((n) => ({ ID: `${n}`, discovered: { info: { url: `https://js.example/${n}` } } }));
  const metadata = { signature: { values: ["s"] } };
  items.push({ ID: "3", known: { info: { url: "https://js.example/3", metadata }, refetchable_from_date: now - 9 } });
  items.push({ ID: "4", known: { info: { url: "https://js.example/4" }, refetchable_from_date: 0 } });
  const acks = await send("PutURLs", items);
  assert.deepStrictEqual(acks.map((ack) => [ack.ID, ack.status]), items.map((item) => [item.ID, "OK"]));
  const params = { max_urls_per_queue: 10, max_queues: 10, delay_requestable: 60, crawlID: "DEFAULT" };
  const given = await read(client.GetURLs(params));
  assert.deepStrictEqual(given.map((info) => info.url).sort(), [0, 1, 2, 3].map((n) => `https://js.example/${n}`));
  assert.deepStrictEqual(given[0].metadata, metadata);
  assert.strictEqual((await read(client.GetURLs({ ...params, anyCrawlID: {}, crawlID: undefined }))).length, 0);
  const stats = await ask("GetStats", { crawlID: "DEFAULT" });
  assert.deepStrictEqual([stats.size, stats.inProcess, stats.counts.completed], [4, 4, 1]);
  const batch = await send("PutDiscovered", [{ ID: "b", items: [{ url: "https://js.example/0" }, { url: "https://js.example/5" }] }]);
  assert.deepStrictEqual(batch, [{ statuses: ["SKIPPED", "OK"], ID: "b" }]);
  assert.strictEqual((await read(client.ListURLs({ size: 2147483647 }))).length, 6);
  assert.strictEqual((await ask("CountURLs", { filter: "/5" })).value, 1);
  assert.deepStrictEqual((await ask("ListQueues", { size: 10 })).values, ["js.example"]);
  await ask("BlockQueueUntil", { key: "js.example", time: now + 999 });
  assert.strictEqual((await read(client.GetURLs(params))).length, 0);
  assert.strictEqual((await ask("GetActive", {})).state, true);
  assert.strictEqual((await ask("DeleteQueue", { key: "js.example" })).value, 6);
  console.log("passed");
  client.close();
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
