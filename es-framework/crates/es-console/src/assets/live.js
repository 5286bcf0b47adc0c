// The live event stream: adds new rows at the top, until the reader pauses it.

const controls = document.getElementById("live");
const rows = document.getElementById("rows");
const missed = document.getElementById("missed");
const MOST_ROWS = 300;

let source;
let newest = controls?.dataset.newest;

function setState(name, text, label) {
  controls.dataset.state = name;
  controls.querySelector(".state").textContent = text;
  controls.querySelector("button").textContent = label;
}

function add(message) {
  const { rows: html, missed: isIncomplete } = JSON.parse(message.data);
  newest = message.lastEventId;
  // The server has escaped every value.
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const row of template.content.children) {
    row.classList.add("new");
  }
  rows.prepend(template.content);
  while (rows.children.length > MOST_ROWS) {
    rows.lastElementChild.remove();
  }
  document.getElementById("empty").hidden = true;
  missed.hidden = missed.hidden && !isIncomplete;
}

function connect() {
  const address = new URL(controls.dataset.address, location.href);
  if (newest) {
    address.searchParams.set("after", newest);
  }
  source = new EventSource(address);
  source.addEventListener("open", () => setState("live", "Live", "Pause"));
  source.addEventListener("message", add);
  source.addEventListener("error", () => {
    const isOver = source.readyState === EventSource.CLOSED;
    setState(isOver ? "paused" : "waiting", isOver ? "Not connected" : "Connecting…", isOver ? "Connect" : "Pause");
  });
}

function toggle() {
  if (source && source.readyState !== EventSource.CLOSED) {
    source.close();
    setState("paused", "Paused", "Continue");
  } else {
    connect();
  }
}

if (controls && rows) {
  controls.hidden = false;
  setState("waiting", "Connecting…", "Pause");
  controls.querySelector("button").addEventListener("click", toggle);
  connect();
  // A page that nobody sees costs nothing.
  addEventListener("pagehide", () => source?.close());
}
