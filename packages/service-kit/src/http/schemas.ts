import { Type } from 'typebox';

/** The response of an operation that has nothing to return. */
export const Message = Type.Object({ message: Type.String() });

/** The path parameters of an operation on one resource. */
export const IdPath = Type.Object({ id: Type.String({ format: 'uuid' }) });
