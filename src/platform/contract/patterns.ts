/** Text without control characters; a lone surrogate is refused in every body already. */
export const TEXT_PATTERN = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';
