/** Whether npm started this process, from a script of a package.json. Apart from the configuration, for it is asked at once. */
export const isUnderNpm = process.env.npm_lifecycle_event !== undefined;
