// Comfort only: every page can be read and used without this file.

/** Shows each instant in the reader's time zone, with UTC as the tooltip. */
function localTimes(part) {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  for (const time of part.querySelectorAll("time[datetime]")) {
    const instant = new Date(time.dateTime);
    if (Number.isNaN(instant.getTime())) continue;
    time.title = time.textContent;
    time.textContent = format.format(instant);
  }
}

/** Focuses the search on `/`, unless the reader is writing. */
function searchKey() {
  const search = document.querySelector("input[name=q]");
  document.addEventListener("keydown", (event) => {
    const isWriting = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key !== "/" || isWriting || event.ctrlKey || event.metaKey || !search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}

/** Moves between the periods of a timeline by the arrow keys. */
function timelineKeys() {
  for (const drawing of document.querySelectorAll("svg.drawing")) {
    const periods = [...drawing.querySelectorAll("a")];
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const place = periods.indexOf(document.activeElement);
      if (!step || place < 0) return;
      event.preventDefault();
      periods[Math.min(periods.length - 1, Math.max(0, place + step))].focus();
    });
  }
}

/**
 * Shows the instant of the slider while it moves, and leads to it when the pointer releases it. A key
 * moves it by one step, so that the reader who uses keys ends with Enter or the button.
 */
function instantSlider() {
  const slider = document.querySelector("input[type=range][name=at]");
  if (!slider) return;
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const shown = document.createElement("output");
  const show = () => { shown.textContent = format.format(new Date(Number(slider.value))); };
  slider.closest("label").after(shown);
  slider.addEventListener("input", show);
  let isDragged = false;
  slider.addEventListener("pointerdown", () => { isDragged = true; });
  slider.addEventListener("keydown", (event) => {
    isDragged = false;
    // Not every browser sends a form by Enter on a slider.
    if (event.key !== "Enter") return;
    event.preventDefault();
    slider.form.requestSubmit();
  });
  slider.addEventListener("change", () => { if (isDragged) slider.form.requestSubmit(); });
  show();
}

/** Adds a button that copies the sentence for the customer. */
function copyButton() {
  const reply = document.getElementById("reply");
  if (!reply || !navigator.clipboard) return;
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.copy = "";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(reply.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Select the text to copy it";
    }
  });
  reply.after(button);
}

/** Adds further events to the page of events. */
function liveEvents() {
  const rows = document.querySelector("#events tbody");
  if (!rows) return;
  const most = 100;
  const address = new URL(`${location.pathname}/stream${location.search}`, location.origin);
  const latest = rows.firstElementChild;
  if (latest) address.searchParams.set("after", latest.id);
  const state = document.createElement("p");
  state.className = "quiet";
  state.setAttribute("role", "status");
  document.querySelector("#events h2").after(state);
  const source = new EventSource(address);
  source.addEventListener("open", () => { state.textContent = "Further events appear here."; });
  source.addEventListener("error", () => {
    if (source.readyState !== EventSource.CLOSED) return;
    state.textContent = "The page is not live any more. Load it again.";
  });
  source.addEventListener("message", (event) => {
    if (document.getElementById(event.lastEventId)) return;
    const template = document.createElement("template");
    template.innerHTML = event.data;
    localTimes(template.content);
    rows.prepend(template.content);
    while (rows.childElementCount > most) rows.lastElementChild.remove();
  });
}

/** Shows the simulated stores and their customers' answers again while the clock runs. */
function runningStores() {
  if (!document.querySelector("#clock .playing")) return;
  const timer = setInterval(async () => {
    const response = await fetch(location.href);
    const text = await response.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = [...page.querySelectorAll("#clock .facts, .halves .facts")];
    const shown = [...document.querySelectorAll("#clock .facts, .halves .facts")];
    if (!response.ok || fresh.length !== shown.length) return location.reload();
    if (!page.querySelector("#clock .playing")) clearInterval(timer);
    localTimes(page);
    shown.forEach((facts, place) => facts.replaceWith(fresh[place]));
  }, 1000);
}

localTimes(document);
runningStores();
liveEvents();
searchKey();
timelineKeys();
copyButton();
instantSlider();
