// The engine of the page: WebAssembly, compressed and written in base64, and the script of its worker.
let engine = null;

async function readEngine() {
  const packed = Uint8Array.from(atob(document.getElementById("engine").textContent), char => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  engine = await new Response(stream).arrayBuffer();
}

function makeWorker() {
  const worker = new Worker(URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" })));
  worker.postMessage({ engine });
  return worker;
}

readEngine().then(start).catch(error => {
  document.getElementById("notice").textContent = `This browser cannot run the page: ${error.message}`;
  document.getElementById("notice").hidden = false;
});
