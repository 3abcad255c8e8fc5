export function PersonPanel() {
  return null;
}
