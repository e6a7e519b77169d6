// Looks for what an earlier replay may have left, then leaves all of it.
const found: string[] = [];
if (localStorage.getItem("trace")) found.push("localStorage");
if (sessionStorage.getItem("trace")) found.push("sessionStorage");
if (document.cookie.includes("trace")) found.push("cookie");
if ((await indexedDB.databases()).some((one) => one.name === "trace")) found.push("indexedDB");
if ((await caches.keys()).includes("trace")) found.push("caches");
if ((await navigator.serviceWorker.getRegistrations()).length > 0) found.push("serviceWorker");
const root = await navigator.storage.getDirectory();
for await (const name of root.keys()) if (name === "trace") found.push("files");
console.log(`found: ${found.join(", ") || "nothing"}`);

localStorage.setItem("trace", "1");
sessionStorage.setItem("trace", "1");
document.cookie = "trace=1; max-age=9999";
await new Promise((resolve) => {
  const opening = indexedDB.open("trace");
  opening.onsuccess = resolve;
  opening.onerror = resolve;
});
await (await caches.open("trace")).put("/trace", new Response("1"));
const file = await root.getFileHandle("trace", { create: true });
const writer = await file.createWritable();
await writer.write("1");
await writer.close();
await navigator.serviceWorker.register("/src/state.js").catch((error) => console.log(`service worker: ${error.message}`));
console.log(`left: ${[localStorage.trace, document.cookie, (await caches.keys()).join()].join(" ")}`);
