/** The seed of this run's random tests, for their titles; set TEST_SEED to live the same run again. */
export const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
