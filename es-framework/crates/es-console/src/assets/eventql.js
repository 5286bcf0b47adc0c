// The EventQL editor: runs a query without leaving the page, so that it can be cancelled.

const form = document.querySelector("form.editor");
const query = form?.querySelector("textarea");
const cancel = form?.querySelector("button.cancel");
const state = form?.querySelector(".state");
let running;

function showResult(page) {
  const result = new DOMParser().parseFromString(page, "text/html").getElementById("result");
  if (result === null) {
    // The session has ended, for example. The browser shows the page that says so.
    form.submit();
    return;
  }
  document.getElementById("result").replaceWith(result);
  result.focus();
}

async function run(event) {
  event.preventDefault();
  running?.abort();
  const own = new AbortController();
  running = own;
  cancel.hidden = false;
  state.textContent = "Running…";
  try {
    const body = new URLSearchParams(new FormData(form));
    // To abort closes the connection, which ends the query.
    const response = await fetch(form.action, { method: "POST", body, signal: own.signal });
    const page = await response.text();
    state.textContent = "";
    showResult(page);
  } catch {
    if (running === own) {
      state.textContent = own.signal.aborted ? "Cancelled." : "The application does not answer.";
    }
  } finally {
    if (running === own) {
      cancel.hidden = true;
    }
  }
}

form?.addEventListener("submit", run);
cancel?.addEventListener("click", () => running?.abort());
query?.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
});
