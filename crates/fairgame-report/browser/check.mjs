// Opens pages in headless Chromium and says what is wrong with them.
//
//   node check.mjs FOLDER NAME...        checks FOLDER/NAME.html
//
// CHROMIUM is the browser's path, otherwise the first of the usual ones. With SCREENSHOTS set to a
// folder, pictures in light and dark, wide, narrow and in print are written there.

import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [folder, ...names] = process.argv.slice(2);
const pictures = process.env.SCREENSHOTS;
const usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = process.env.CHROMIUM || usual.find((file) => fs.existsSync(file));
if (!executablePath) {
  console.error("no Chromium: apt-get install chromium, or set CHROMIUM to its path");
  process.exit(2);
}

const faults = [];
let page, where;
const expect = (ok, what) => ok || faults.push(`${where}: ${what}`);

// Every text in a figure against the page behind it, as the accessibility rules count contrast.
const faintText = () => {
  const parse = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = light(parse(getComputedStyle(document.body).backgroundColor));
  return [...document.querySelectorAll("svg text, svg tspan")].filter((text) => {
    const ink = light(parse(getComputedStyle(text).fill));
    return (Math.max(ink, behind) + 0.05) / (Math.min(ink, behind) + 0.05) < 4.5;
  }).map((text) => text.textContent);
};

// Labels of one figure that lie on one another, or stick out of it.
const clashes = () => [...document.querySelectorAll(".plot svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const out = texts.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1
    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1).map(([text]) => `outside: ${text}`);
  const over = texts.flatMap(([text, a], i) => texts.slice(i + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3).map(([other]) => `${text} over ${other}`));
  return [...out, ...over];
});

async function tooltips() {
  for (const plot of await page.$$(".plot")) {
    const marks = await plot.$$("[data-tip]");
    const figure = await plot.getAttribute("aria-label");
    if (!marks.length) {
      expect(false, `${figure}: no marks`);
      continue;
    }
    const tip = async () => (await page.isVisible("#tip")) ? page.textContent("#tip") : "";
    const head = async (mark) => (await mark.getAttribute("data-tip")).split("\n")[0].replace(/\0/g, "\ufffd");
    const last = marks[marks.length - 1];

    await plot.scrollIntoViewIfNeeded();
    await marks[0].scrollIntoViewIfNeeded();
    // Scrolling hides tooltips, a frame later.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const box = await marks[0].boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    expect((await tip()) !== "", `${figure}: no tooltip by pointer`);
    const [x, y] = await page.$eval("#tip", (tip) => {
      const box = tip.getBoundingClientRect();
      return [box.right - innerWidth, box.bottom - innerHeight];
    });
    expect(x <= 0 && y <= 0, `${figure}: the tooltip sticks out`);
    await page.mouse.move(0, 0);
    expect((await tip()) === "", `${figure}: the tooltip stays`);

    // By Tab from what comes before it, as a person would.
    await plot.evaluate((plot) => {
      const stop = document.createElement("button");
      plot.before(stop);
      stop.focus();
    });
    await page.keyboard.press("Tab");
    expect(await plot.evaluate((plot) => plot === document.activeElement), `${figure}: Tab does not reach it`);
    expect((await tip()) !== "", `${figure}: no tooltip by keyboard`);
    await page.keyboard.press("End");
    expect((await tip()).startsWith(await head(last)), `${figure}: End does not go to the last mark`);
    expect((await page.textContent("#say")) !== "", `${figure}: nothing is said aloud`);
    const ring = await plot.evaluate((plot) => getComputedStyle(plot).outlineStyle);
    expect(ring !== "none", `${figure}: focus cannot be seen`);
    await page.keyboard.press("Escape");
    expect((await tip()) === "", `${figure}: Escape leaves the tooltip`);
    await plot.evaluate((plot) => plot.previousSibling.remove());
  }
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
for (const name of names) {
  const address = pathToFileURL(path.join(folder, `${name}.html`)).href;
  for (const [width, height, colorScheme] of [[1200, 900, "light"], [1200, 900, "dark"], [360, 740, "light"]]) {
    where = `${name} ${width} ${colorScheme}`;
    const context = await browser.newContext({ viewport: { width, height }, colorScheme });
    page = await context.newPage();
    page.on("console", (message) => expect(false, `console: ${message.text()}`));
    page.on("pageerror", (error) => expect(false, `error: ${error}`));
    page.on("dialog", (dialog) => { expect(false, `dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("request", (request) => expect(request.url() === address, `asks for ${request.url()}`));
    await page.goto(address);
    // What is folded is looked at, too.
    await page.evaluate(() => document.querySelectorAll("details.inside").forEach((one) => { one.open = true; }));

    expect((await page.$$("h1")).length === 1, "not one h1");
    expect((await page.$$("script")).length === 1, "not one script");
    expect((await page.$$("[onerror], img, iframe, object, link")).length === 0, "foreign elements");
    for (const svg of await page.$$(".plot svg")) {
      const box = await svg.boundingBox();
      expect(box && box.width > 250 && box.height > 60, "a figure has no size");
    }
    if (name === "adult") expect((await page.$$(".plot svg[role=img]")).length === 6, "not six figures");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide <= 0, `the page is ${wide} px too wide`);
    for (const text of await page.evaluate(faintText)) expect(false, `hard to read in a figure: ${text}`);
    for (const text of await page.evaluate(clashes)) expect(false, `labels: ${text}`);
    // Rules on markup hold in any colour; those on colour are tried on the page that has them all.
    if (name === names[0] || (width > 400 && colorScheme === "light")) {
      // The policy of the page stops scripts of the page, not those of the debugger.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => axe.run());
      for (const { id, nodes } of violations) expect(false, `axe: ${id}: ${nodes[0].html.slice(0, 200)}`);
    }
    if (pictures) {
      fs.mkdirSync(pictures, { recursive: true });
      await page.screenshot({ path: path.join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: true });
    }
    await tooltips();
    if (pictures && name === "adult") {
      for (const plot of await page.$$(".plot")) {
        const id = (await plot.$eval("title", (title) => title.id));
        await plot.focus();
        await page.keyboard.press("PageDown");
        await page.screenshot({ path: path.join(pictures, `tip-${id}-${width}-${colorScheme}.png`) });
      }
      if (colorScheme === "light" && width > 400) await page.pdf({ path: path.join(pictures, `${name}.pdf`) });
    }
    page.removeAllListeners("console");
    // What a page tries is stopped by its own policy.
    const stopped = await page.evaluate(() => new Promise((done) => {
      document.addEventListener("securitypolicyviolation", () => done(true));
      setTimeout(() => done(false), 2000);
      const script = document.createElement("script");
      script.textContent = "window.ran = true";
      document.body.append(script);
    }));
    expect(stopped && !(await page.evaluate(() => window.ran)), "the policy lets a foreign script run");
    await context.close();
  }
}
await browser.close();
for (const fault of faults) console.error(fault);
if (faults.length) process.exit(1);
console.log(`${names.length} pages: no fault`);
