/**
 * Makes a part of the page what the server would send now, and leaves alone what is the same: so nobody loses the
 * focus, a selection or what a script has added. `before` is that part as the server sent it last, of which `shown`
 * was made.
 */
export function morph(shown: Element, before: Element, after: Element): void {
  for (const { name } of before.attributes) if (!after.hasAttribute(name)) shown.removeAttribute(name);
  for (const { name, value } of after.attributes)
    if (before.getAttribute(name) !== value) shown.setAttribute(name, value);
  if (before.childElementCount + after.childElementCount === 0) {
    if (before.textContent !== after.textContent) shown.textContent = after.textContent;
    return;
  }
  const earlier = [...before.childNodes];
  const parts = [...shown.childNodes];
  // The browser's extensions may have added something too.
  if (hasText(before) || hasText(after) || parts.length !== earlier.length) {
    if (!before.isEqualNode(after)) shown.replaceChildren(...copies(after.childNodes));
    return;
  }
  let next = 0;
  for (const child of after.children) {
    const at = earlier.findIndex((one, index) => index >= next && isSame(one as Element, child));
    if (at < 0) {
      shown.insertBefore(document.importNode(child, true), parts[next] ?? null);
      continue;
    }
    for (const gone of parts.slice(next, at)) gone.remove();
    morph(parts[at] as Element, earlier[at] as Element, child);
    next = at + 1;
  }
  for (const gone of parts.slice(next)) gone.remove();
}

/** Whether text stands beside elements. */
function hasText({ childNodes }: Element): boolean {
  return [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE);
}

function isSame(one: Element, other: Element): boolean {
  return one.tagName === other.tagName && one.className === other.className && one.id === other.id;
}

function copies(nodes: NodeListOf<ChildNode>): Node[] {
  return [...nodes].map((node) => document.importNode(node, true));
}
