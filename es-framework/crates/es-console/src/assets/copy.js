// Copies the source code of a test. Without the right to use the clipboard, it selects the text.

const code = document.getElementById("test-code");
const button = document.querySelector("button.copy");
const state = document.querySelector(".copied-test .state");

async function copy() {
  try {
    await navigator.clipboard.writeText(code.textContent);
    state.textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(code);
    state.textContent = "Selected. Copy it with Ctrl+C.";
  }
}

if (code && button) {
  button.hidden = false;
  button.addEventListener("click", copy);
}
