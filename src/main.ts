import { onStopSignal } from './boot/shutdown.js';

// All else is imported by the start, for that takes most of a second, in which a signal would be lost on process 1 of a container.
onStopSignal(import('./boot/start.js').then(({ start }) => start()));
