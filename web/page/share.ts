/** Gives the buttons of a status their work. `root` is the page, or the shadow root of the widget. */
export function enableSharing(root: ParentNode): void {
  const sharing = root.querySelector<HTMLElement>('.waitlist-sharing');
  const input = sharing?.querySelector<HTMLInputElement>('.waitlist-link input');
  if (!sharing || !input) return;
  input.addEventListener('focus', () => input.select());

  const copy = sharing.querySelector<HTMLButtonElement>('.waitlist-secondary');
  if (copy) {
    const label = copy.textContent;
    copy.hidden = false;
    copy.addEventListener('click', () => {
      void copyText(input).then(() => {
        copy.textContent = copy.dataset.copied ?? label;
        setTimeout(() => (copy.textContent = label), COPIED_MS);
      });
    });
  }

  const share = sharing.querySelector<HTMLButtonElement>('.waitlist-share');
  if (share && 'share' in navigator) {
    share.hidden = false;
    share.addEventListener('click', () => {
      // It rejects where the person closes the sheet.
      navigator.share({ text: sharing.dataset.message, url: input.value }).catch(() => undefined);
    });
  }
}

const COPIED_MS = 2_000;

/** The clipboard needs https; without it, the selected text is copied the old way. */
async function copyText(input: HTMLInputElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(input.value);
  } catch {
    input.select();
    document.execCommand('copy');
  }
}
