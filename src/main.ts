import { onStopSignal } from './platform/shutdown.js';

// All else is imported by the start, for that takes most of a second, in which a signal would be lost on process 1 of a container.
onStopSignal(import('./start.js').then(({ start }) => start()));
