"use strict";
(() => {
  const tip = document.getElementById("tip");
  const say = document.getElementById("say");
  let shown = null;

  const lines = (mark) => {
    const names = (mark.ownerSVGElement.dataset.names || "").split("\n");
    const [head, ...rest] = mark.dataset.tip.split("\n");
    const named = rest.map((line, i) => (line && names[i] ? line + " " + names[i] : line));
    return [head, ...named.filter((line) => line)];
  };

  const hide = () => {
    if (shown) shown.classList.remove("on");
    shown = null;
    tip.hidden = true;
  };

  // Where a mark is a column or a row, its tooltip goes below it, so as not to hide what it speaks of.
  const show = (mark, at) => {
    if (shown !== mark) {
      hide();
      shown = mark;
      mark.classList.add("on");
      tip.replaceChildren(...lines(mark).map((line, i) => {
        const part = document.createElement(i ? "span" : "b");
        part.textContent = line;
        return part;
      }));
    }
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const x = at ? at.clientX : box.left + box.width / 2;
    const y = at && box.height < 60 ? at.clientY : box.bottom - 8;
    const left = x + 14 + tip.offsetWidth > innerWidth - 8 ? x - 14 - tip.offsetWidth : x + 14;
    const top = y + 14 + tip.offsetHeight > innerHeight - 8 ? y - 14 - tip.offsetHeight : y + 14;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = Math.max(8, top) + "px";
  };

  for (const plot of document.querySelectorAll(".plot")) {
    const marks = [...plot.querySelectorAll("[data-tip]")];
    const near = plot.dataset.near;
    const reach = near === "xy" ? 24 : 40;
    let current = 0;

    const nearest = (event) => {
      let best = null;
      let least = reach;
      for (const mark of marks) {
        const box = mark.getBoundingClientRect();
        const dx = near === "y" ? 0 : event.clientX - box.left - box.width / 2;
        const dy = near === "x" ? 0 : event.clientY - box.top - box.height / 2;
        const away = Math.hypot(dx, dy);
        if (away <= least) [best, least] = [mark, away];
      }
      return best;
    };
    const point = (event) => {
      const mark = nearest(event);
      if (!mark) return hide();
      current = marks.indexOf(mark);
      show(mark, event);
    };
    plot.addEventListener("pointermove", point);
    plot.addEventListener("pointerdown", point);
    plot.addEventListener("pointerleave", hide);

    const go = (to) => {
      if (!marks.length) return;
      current = Math.max(0, Math.min(marks.length - 1, to));
      const mark = marks[current];
      mark.scrollIntoView({ block: "nearest", inline: "nearest" });
      show(mark);
      say.textContent = lines(mark).join(", ");
    };
    plot.addEventListener("focus", () => plot.matches(":focus-visible") && go(current));
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
      if (step) go(tip.hidden ? current : current + step);
      else if (event.key === "Home") go(0);
      else if (event.key === "End") go(marks.length - 1);
      else return;
      event.preventDefault();
    });
  }
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("scroll", () => shown && document.activeElement.contains(shown) ? show(shown) : hide(), { passive: true });

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open], .inside, .inside details)")];
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });
})();
