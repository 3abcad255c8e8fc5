/**
 * Changes a part of the page to what the server sends now. Elements that did not change stay, and with them the focus,
 * a selection and what scripts have added. `before` is the part as the server sent it last, from which `shown` was
 * made.
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
  // Browser extensions may have added nodes.
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

/** Whether some of the child nodes are text. */
function hasText({ childNodes }: Element): boolean {
  return [...childNodes].some((node) => node.nodeType === Node.TEXT_NODE);
}

function isSame(one: Element, other: Element): boolean {
  return one.tagName === other.tagName && one.className === other.className && one.id === other.id;
}

function copies(nodes: NodeListOf<ChildNode>): Node[] {
  return [...nodes].map((node) => document.importNode(node, true));
}
