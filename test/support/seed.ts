/** The seed of random tests, shown in their titles; set TEST_SEED to repeat a run. */
export const SEED = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
