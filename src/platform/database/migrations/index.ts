import { initial } from './1763683200000-initial.js';

/** Later migrations go behind these; a released one never changes. */
export const migrations = [...initial];
