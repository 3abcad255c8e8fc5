import { customAlphabet } from 'nanoid';

/** Crockford's base 32: no I, L, O, U. */
export const TOKEN_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TOKEN_LENGTH = 12;

/** 60 random bits. */
export const newReferralToken = customAlphabet(TOKEN_ALPHABET, TOKEN_LENGTH);
