import { onStopSignal } from './boot/shutdown.js';

// Install the signal handlers before importing the app: the import takes most of a second, and process 1 of a container
// ignores signals that have no handler.
onStopSignal(import('./boot/start.js').then(({ start }) => start()));
