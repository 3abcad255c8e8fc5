/* Shows the waitlist that the address names: /docs/widget?waitlist_id=2. */

const id = new URLSearchParams(location.search).get('waitlist_id') || '1';
document.getElementById('id').value = id;
document.getElementById('shown-id').textContent = id;
document.querySelector('waitlist-signup').setAttribute('waitlist-id', id);
