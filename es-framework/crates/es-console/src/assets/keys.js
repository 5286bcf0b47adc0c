// Keys: `/` goes to the first field, the arrows go through the rows, Enter opens one.

const list = () => [...document.querySelectorAll("table.events tbody tr, ol.timeline > li, ul.subjects > li, ul.commands > li")];

function isTyping(target) {
  return target.closest("input, select, textarea, summary, button") !== null;
}

function move(step) {
  const items = list();
  const links = items.map((item) => item.querySelector("a")).filter(Boolean);
  const current = links.indexOf(document.activeElement?.closest("tr, li")?.querySelector("a"));
  const next = links[Math.min(Math.max(current + step, 0), links.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) {
    return;
  }
  if (event.key === "/") {
    document.querySelector("form.filter input, form.editor textarea")?.focus();
  } else if (event.key === "ArrowDown" || event.key === "j") {
    move(1);
  } else if (event.key === "ArrowUp" || event.key === "k") {
    move(-1);
  } else {
    return;
  }
  event.preventDefault();
});

// A form with this mark opens the page of the subject itself.
for (const form of document.querySelectorAll("form[data-opens-subject]")) {
  form.addEventListener("submit", (event) => {
    const subject = form.elements.subject.value.trim().replace(/^\/*/, "/");
    event.preventDefault();
    location.assign(`/console/subjects${encodeURI(subject)}`);
  });
}
