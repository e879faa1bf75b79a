/** Reads address ranges that are separated by lines, blanks or commas. */
export const readRanges = (typed: string): string[] => typed.split(/[\s,]+/).filter((range) => range !== '');
