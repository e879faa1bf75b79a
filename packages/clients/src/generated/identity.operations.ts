// Generated from services/identity/openapi.json: run "npm run generate-clients".
import type { Operation } from '../operation.js';

export const identityOperations: Readonly<Record<IdentityOperationId, Operation>> = {
  "login": {
    "method": "POST",
    "path": "/api/v1/auth/login",
    "body": {
      "type": "object",
      "required": [
        "email"
      ],
      "properties": {
        "email": {
          "type": "string",
          "minLength": 1,
          "maxLength": 254
        },
        "password": {
          "type": "string",
          "minLength": 1,
          "maxLength": 256
        },
        "otp": {
          "type": "string",
          "pattern": "^[0-9]{6}$",
          "description": "The mailed code, in place of the password."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "accessToken",
        "tokenType",
        "expiresIn",
        "expiresAt",
        "user"
      ],
      "properties": {
        "accessToken": {
          "type": "string"
        },
        "tokenType": {
          "type": "string",
          "const": "Bearer"
        },
        "expiresIn": {
          "type": "integer",
          "description": "Seconds."
        },
        "expiresAt": {
          "type": "string",
          "format": "date-time"
        },
        "user": {
          "type": "object",
          "required": [
            "id",
            "orgId",
            "email",
            "fullName",
            "role"
          ],
          "properties": {
            "id": {
              "type": "string",
              "format": "uuid"
            },
            "orgId": {
              "type": "string",
              "format": "uuid"
            },
            "email": {
              "type": "string"
            },
            "fullName": {
              "type": "string"
            },
            "role": {
              "type": "string",
              "description": "`admin` or `member`."
            }
          },
          "title": "User"
        }
      },
      "title": "Session"
    }
  },
  "requestCode": {
    "method": "POST",
    "path": "/api/v1/auth/otp",
    "body": {
      "type": "object",
      "required": [
        "email"
      ],
      "properties": {
        "email": {
          "type": "string",
          "minLength": 1,
          "maxLength": 254
        }
      },
      "additionalProperties": false
    },
    "status": 202,
    "answer": {
      "type": "object",
      "required": [
        "message"
      ],
      "properties": {
        "message": {
          "type": "string"
        }
      }
    }
  },
  "forgotPassword": {
    "method": "POST",
    "path": "/api/v1/auth/password/forgot",
    "body": {
      "type": "object",
      "required": [
        "email"
      ],
      "properties": {
        "email": {
          "type": "string",
          "minLength": 1,
          "maxLength": 254
        }
      },
      "additionalProperties": false
    },
    "status": 202,
    "answer": {
      "type": "object",
      "required": [
        "message"
      ],
      "properties": {
        "message": {
          "type": "string"
        }
      }
    }
  },
  "describeLink": {
    "method": "POST",
    "path": "/api/v1/auth/links",
    "body": {
      "type": "object",
      "required": [
        "token"
      ],
      "properties": {
        "token": {
          "type": "string",
          "minLength": 1,
          "maxLength": 128,
          "description": "What follows `#token=` in the mailed link."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "link"
      ],
      "properties": {
        "link": {
          "type": "object",
          "required": [
            "purpose",
            "email",
            "fullName",
            "organisation",
            "expiresAt"
          ],
          "properties": {
            "purpose": {
              "anyOf": [
                {
                  "type": "string",
                  "const": "invitation"
                },
                {
                  "type": "string",
                  "const": "password_reset"
                }
              ]
            },
            "email": {
              "type": "string"
            },
            "fullName": {
              "type": "string"
            },
            "organisation": {
              "type": "string",
              "description": "Its name."
            },
            "expiresAt": {
              "type": "string",
              "format": "date-time"
            }
          },
          "title": "Link"
        }
      }
    }
  },
  "resetPassword": {
    "method": "POST",
    "path": "/api/v1/auth/password/reset",
    "body": {
      "type": "object",
      "required": [
        "token",
        "password"
      ],
      "properties": {
        "token": {
          "type": "string",
          "minLength": 1,
          "maxLength": 128,
          "description": "What follows `#token=` in the mailed link."
        },
        "password": {
          "type": "string",
          "minLength": 8,
          "maxLength": 256
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message"
      ],
      "properties": {
        "message": {
          "type": "string"
        }
      }
    }
  },
  "acceptInvitation": {
    "method": "POST",
    "path": "/api/v1/auth/invitations/accept",
    "body": {
      "type": "object",
      "required": [
        "token",
        "password"
      ],
      "properties": {
        "token": {
          "type": "string",
          "minLength": 1,
          "maxLength": 128,
          "description": "What follows `#token=` in the mailed link."
        },
        "fullName": {
          "type": "string",
          "minLength": 1,
          "maxLength": 200,
          "format": "display-name",
          "description": "With a visible character, without control and bidirectional ones."
        },
        "password": {
          "type": "string",
          "minLength": 8,
          "maxLength": 256
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "accessToken",
        "tokenType",
        "expiresIn",
        "expiresAt",
        "user"
      ],
      "properties": {
        "accessToken": {
          "type": "string"
        },
        "tokenType": {
          "type": "string",
          "const": "Bearer"
        },
        "expiresIn": {
          "type": "integer",
          "description": "Seconds."
        },
        "expiresAt": {
          "type": "string",
          "format": "date-time"
        },
        "user": {
          "type": "object",
          "required": [
            "id",
            "orgId",
            "email",
            "fullName",
            "role"
          ],
          "properties": {
            "id": {
              "type": "string",
              "format": "uuid"
            },
            "orgId": {
              "type": "string",
              "format": "uuid"
            },
            "email": {
              "type": "string"
            },
            "fullName": {
              "type": "string"
            },
            "role": {
              "type": "string",
              "description": "`admin` or `member`."
            }
          },
          "title": "User"
        }
      },
      "title": "Session"
    }
  },
  "getSigningKeys": {
    "method": "GET",
    "path": "/.well-known/jwks.json",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "keys"
      ],
      "properties": {
        "keys": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "kty",
              "crv",
              "x",
              "kid",
              "alg",
              "use"
            ],
            "properties": {
              "kty": {
                "type": "string"
              },
              "crv": {
                "type": "string"
              },
              "x": {
                "type": "string"
              },
              "kid": {
                "type": "string"
              },
              "alg": {
                "type": "string"
              },
              "use": {
                "type": "string"
              }
            }
          }
        }
      }
    }
  },
  "logout": {
    "method": "POST",
    "path": "/api/v1/auth/logout",
    "status": 204
  },
  "getMe": {
    "method": "GET",
    "path": "/api/v1/users/me",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "user"
      ],
      "properties": {
        "user": {
          "type": "object",
          "required": [
            "id",
            "orgId",
            "email",
            "fullName",
            "role"
          ],
          "properties": {
            "id": {
              "type": "string",
              "format": "uuid"
            },
            "orgId": {
              "type": "string",
              "format": "uuid"
            },
            "email": {
              "type": "string"
            },
            "fullName": {
              "type": "string"
            },
            "role": {
              "type": "string",
              "description": "`admin` or `member`."
            }
          },
          "title": "User"
        }
      }
    }
  },
  "createToken": {
    "method": "POST",
    "path": "/api/v1/personal-access-tokens",
    "body": {
      "type": "object",
      "required": [
        "name"
      ],
      "properties": {
        "name": {
          "type": "string",
          "minLength": 1,
          "maxLength": 100,
          "format": "display-name",
          "description": "With a visible character, without control and bidirectional ones."
        },
        "scopes": {
          "type": "array",
          "items": {
            "type": "string",
            "maxLength": 64
          },
          "minItems": 1,
          "maxItems": 50,
          "description": "Default: MCP_SCOPES."
        },
        "expiryDays": {
          "description": "Days, or `never`. Default: 30.",
          "anyOf": [
            {
              "type": "integer",
              "enum": [
                30,
                90,
                365
              ]
            },
            {
              "type": "string",
              "enum": [
                "never"
              ]
            }
          ]
        }
      },
      "additionalProperties": false
    },
    "status": 201,
    "answer": {
      "type": "object",
      "required": [
        "message",
        "token"
      ],
      "properties": {
        "message": {
          "type": "string"
        },
        "token": {
          "type": "object",
          "required": [
            "id",
            "name",
            "scopes",
            "createdAt",
            "expiresAt",
            "lastUsedAt",
            "parentId",
            "accessToken"
          ],
          "properties": {
            "id": {
              "type": "string",
              "format": "uuid"
            },
            "name": {
              "type": "string"
            },
            "scopes": {
              "type": "array",
              "items": {
                "type": "string"
              }
            },
            "createdAt": {
              "type": "string",
              "format": "date-time"
            },
            "expiresAt": {
              "anyOf": [
                {
                  "type": "string",
                  "format": "date-time"
                },
                {
                  "type": "null"
                }
              ]
            },
            "lastUsedAt": {
              "anyOf": [
                {
                  "type": "string",
                  "format": "date-time"
                },
                {
                  "type": "null"
                }
              ]
            },
            "parentId": {
              "anyOf": [
                {
                  "type": "string",
                  "format": "uuid"
                },
                {
                  "type": "null"
                }
              ],
              "description": "The token that this one is revoked with: the one that made it, or the next above that is left. Null: none."
            },
            "accessToken": {
              "type": "string",
              "description": "Shown this once."
            }
          }
        }
      },
      "title": "CreatedPersonalAccessToken"
    }
  },
  "listOwnTokens": {
    "method": "GET",
    "path": "/api/v1/personal-access-tokens",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "tokens"
      ],
      "properties": {
        "tokens": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "id",
              "name",
              "scopes",
              "createdAt",
              "expiresAt",
              "lastUsedAt",
              "parentId"
            ],
            "properties": {
              "id": {
                "type": "string",
                "format": "uuid"
              },
              "name": {
                "type": "string"
              },
              "scopes": {
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "createdAt": {
                "type": "string",
                "format": "date-time"
              },
              "expiresAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "lastUsedAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "parentId": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "uuid"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "The token that this one is revoked with: the one that made it, or the next above that is left. Null: none."
              }
            },
            "title": "PersonalAccessToken"
          }
        }
      }
    }
  },
  "revokeOwnToken": {
    "method": "DELETE",
    "path": "/api/v1/personal-access-tokens/{tokenId}",
    "pathParameters": {
      "type": "object",
      "required": [
        "tokenId"
      ],
      "properties": {
        "tokenId": {
          "type": "string",
          "format": "uuid"
        }
      },
      "additionalProperties": false
    },
    "body": {
      "type": "object",
      "properties": {
        "reason": {
          "type": "string",
          "maxLength": 500
        },
        "keepDescendants": {
          "type": "boolean",
          "description": "Revoke this token alone, which requires a session. Otherwise the tokens that it created are revoked with it, and theirs."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message",
        "revokedCount"
      ],
      "properties": {
        "message": {
          "type": "string"
        },
        "revokedCount": {
          "type": "integer",
          "description": "How many tokens were revoked: this one, and those it made."
        }
      }
    }
  },
  "listTokenActivity": {
    "method": "GET",
    "path": "/api/v1/personal-access-tokens/{tokenId}/activity",
    "pathParameters": {
      "type": "object",
      "required": [
        "tokenId"
      ],
      "properties": {
        "tokenId": {
          "type": "string",
          "format": "uuid"
        }
      },
      "additionalProperties": false
    },
    "query": {
      "type": "object",
      "properties": {
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 20
        },
        "cursor": {
          "type": "string",
          "format": "uuid",
          "description": "`nextCursor` of the page before."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data",
        "nextCursor"
      ],
      "properties": {
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "id",
              "userId",
              "tool",
              "outcome",
              "durationMs",
              "requestId",
              "client",
              "createdAt"
            ],
            "properties": {
              "id": {
                "type": "string",
                "format": "uuid"
              },
              "userId": {
                "type": "string",
                "format": "uuid",
                "description": "Who the call acted as."
              },
              "tool": {
                "type": "string"
              },
              "outcome": {
                "type": "string",
                "description": "One of completed, denied, invalid_arguments, refused, failed, cancelled."
              },
              "durationMs": {
                "type": "integer"
              },
              "requestId": {
                "type": "string",
                "description": "`x-request-id` of the answer, and of the log lines."
              },
              "client": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "What the client said it is."
              },
              "createdAt": {
                "type": "string",
                "format": "date-time"
              }
            },
            "title": "ToolCall"
          }
        },
        "nextCursor": {
          "anyOf": [
            {
              "type": "string",
              "format": "uuid"
            },
            {
              "type": "null"
            }
          ],
          "description": "Null: there are no more."
        }
      }
    }
  },
  "listGrantableScopes": {
    "method": "GET",
    "path": "/api/v1/personal-access-tokens/scopes",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "scopes"
      ],
      "properties": {
        "scopes": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "category",
              "scopes"
            ],
            "properties": {
              "category": {
                "type": "string"
              },
              "scopes": {
                "type": "array",
                "items": {
                  "type": "object",
                  "required": [
                    "name",
                    "description",
                    "default",
                    "adminOnly"
                  ],
                  "properties": {
                    "name": {
                      "type": "string"
                    },
                    "description": {
                      "type": "string"
                    },
                    "default": {
                      "type": "boolean"
                    },
                    "adminOnly": {
                      "type": "boolean"
                    }
                  }
                }
              }
            }
          }
        }
      },
      "title": "GrantableScopes"
    }
  },
  "listUsers": {
    "method": "GET",
    "path": "/api/v1/users",
    "query": {
      "type": "object",
      "properties": {
        "page": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000000,
          "default": 1
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 20
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data",
        "pagination"
      ],
      "properties": {
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "id",
              "orgId",
              "email",
              "fullName",
              "role",
              "invitation"
            ],
            "properties": {
              "id": {
                "type": "string",
                "format": "uuid"
              },
              "orgId": {
                "type": "string",
                "format": "uuid"
              },
              "email": {
                "type": "string"
              },
              "fullName": {
                "type": "string"
              },
              "role": {
                "type": "string",
                "description": "`admin` or `member`."
              },
              "invitation": {
                "anyOf": [
                  {
                    "type": "object",
                    "required": [
                      "state"
                    ],
                    "properties": {
                      "state": {
                        "type": "string",
                        "description": "`pending`; `undeliverable`: the SMTP server will never take it; `unknown`: it may have arrived, and is not sent again."
                      },
                      "reason": {
                        "type": "string",
                        "description": "Why it is undeliverable or unknown."
                      }
                    }
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "Null when the member has accepted, or never needed one."
              }
            },
            "title": "Member"
          }
        },
        "pagination": {
          "type": "object",
          "required": [
            "page",
            "limit",
            "total",
            "totalPages"
          ],
          "properties": {
            "page": {
              "type": "integer"
            },
            "limit": {
              "type": "integer"
            },
            "total": {
              "type": "integer"
            },
            "totalPages": {
              "type": "integer"
            }
          }
        }
      }
    }
  },
  "createUser": {
    "method": "POST",
    "path": "/api/v1/users",
    "body": {
      "type": "object",
      "required": [
        "email",
        "fullName"
      ],
      "properties": {
        "email": {
          "type": "string",
          "format": "email",
          "maxLength": 254
        },
        "fullName": {
          "type": "string",
          "minLength": 1,
          "maxLength": 200,
          "format": "display-name",
          "description": "With a visible character, without control and bidirectional ones."
        },
        "role": {
          "type": "string",
          "enum": [
            "admin",
            "member"
          ],
          "description": "`admin` or `member`."
        },
        "password": {
          "type": "string",
          "minLength": 8,
          "maxLength": 256
        }
      },
      "additionalProperties": false
    },
    "status": 201,
    "answer": {
      "type": "object",
      "required": [
        "user"
      ],
      "properties": {
        "user": {
          "type": "object",
          "required": [
            "id",
            "orgId",
            "email",
            "fullName",
            "role"
          ],
          "properties": {
            "id": {
              "type": "string",
              "format": "uuid"
            },
            "orgId": {
              "type": "string",
              "format": "uuid"
            },
            "email": {
              "type": "string"
            },
            "fullName": {
              "type": "string"
            },
            "role": {
              "type": "string",
              "description": "`admin` or `member`."
            }
          },
          "title": "User"
        }
      }
    }
  },
  "changeUser": {
    "method": "PATCH",
    "path": "/api/v1/users/{id}",
    "pathParameters": {
      "type": "object",
      "required": [
        "id"
      ],
      "properties": {
        "id": {
          "type": "string",
          "format": "uuid"
        }
      },
      "additionalProperties": false
    },
    "body": {
      "type": "object",
      "properties": {
        "fullName": {
          "type": "string",
          "minLength": 1,
          "maxLength": 200,
          "format": "display-name",
          "description": "With a visible character, without control and bidirectional ones."
        },
        "role": {
          "type": "string",
          "enum": [
            "admin",
            "member"
          ],
          "description": "`admin` or `member`."
        }
      },
      "additionalProperties": false,
      "minProperties": 1
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "user"
      ],
      "properties": {
        "user": {
          "type": "object",
          "required": [
            "id",
            "orgId",
            "email",
            "fullName",
            "role"
          ],
          "properties": {
            "id": {
              "type": "string",
              "format": "uuid"
            },
            "orgId": {
              "type": "string",
              "format": "uuid"
            },
            "email": {
              "type": "string"
            },
            "fullName": {
              "type": "string"
            },
            "role": {
              "type": "string",
              "description": "`admin` or `member`."
            }
          },
          "title": "User"
        }
      }
    }
  },
  "removeUser": {
    "method": "DELETE",
    "path": "/api/v1/users/{id}",
    "pathParameters": {
      "type": "object",
      "required": [
        "id"
      ],
      "properties": {
        "id": {
          "type": "string",
          "format": "uuid"
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message"
      ],
      "properties": {
        "message": {
          "type": "string"
        }
      }
    }
  },
  "listOrganisationTokens": {
    "method": "GET",
    "path": "/api/v1/personal-access-tokens/admin",
    "query": {
      "type": "object",
      "properties": {
        "page": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000000,
          "default": 1
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 20
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data",
        "pagination"
      ],
      "properties": {
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "id",
              "name",
              "scopes",
              "createdAt",
              "expiresAt",
              "lastUsedAt",
              "parentId",
              "userId",
              "ownerEmail",
              "ownerFullName",
              "ownerDeleted"
            ],
            "properties": {
              "id": {
                "type": "string",
                "format": "uuid"
              },
              "name": {
                "type": "string"
              },
              "scopes": {
                "type": "array",
                "items": {
                  "type": "string"
                }
              },
              "createdAt": {
                "type": "string",
                "format": "date-time"
              },
              "expiresAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "lastUsedAt": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "date-time"
                  },
                  {
                    "type": "null"
                  }
                ]
              },
              "parentId": {
                "anyOf": [
                  {
                    "type": "string",
                    "format": "uuid"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "The token that this one is revoked with: the one that made it, or the next above that is left. Null: none."
              },
              "userId": {
                "type": "string",
                "format": "uuid"
              },
              "ownerEmail": {
                "type": "string"
              },
              "ownerFullName": {
                "type": "string"
              },
              "ownerDeleted": {
                "type": "boolean"
              }
            },
            "title": "OwnedPersonalAccessToken"
          }
        },
        "pagination": {
          "type": "object",
          "required": [
            "page",
            "limit",
            "total",
            "totalPages"
          ],
          "properties": {
            "page": {
              "type": "integer"
            },
            "limit": {
              "type": "integer"
            },
            "total": {
              "type": "integer"
            },
            "totalPages": {
              "type": "integer"
            }
          }
        }
      }
    }
  },
  "revokeOrganisationToken": {
    "method": "DELETE",
    "path": "/api/v1/personal-access-tokens/admin/{tokenId}",
    "pathParameters": {
      "type": "object",
      "required": [
        "tokenId"
      ],
      "properties": {
        "tokenId": {
          "type": "string",
          "format": "uuid"
        }
      },
      "additionalProperties": false
    },
    "body": {
      "type": "object",
      "properties": {
        "reason": {
          "type": "string",
          "maxLength": 500
        },
        "keepDescendants": {
          "type": "boolean",
          "description": "Revoke this token alone, which requires a session. Otherwise the tokens that it created are revoked with it, and theirs."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message",
        "revokedCount"
      ],
      "properties": {
        "message": {
          "type": "string"
        },
        "revokedCount": {
          "type": "integer",
          "description": "How many tokens were revoked: this one, and those it made."
        }
      }
    }
  },
  "listAuditEntries": {
    "method": "GET",
    "path": "/api/v1/audit",
    "query": {
      "type": "object",
      "properties": {
        "page": {
          "type": "integer",
          "minimum": 1,
          "maximum": 1000000000,
          "default": 1
        },
        "limit": {
          "type": "integer",
          "minimum": 1,
          "maximum": 100,
          "default": 20
        },
        "actorId": {
          "type": "string",
          "format": "uuid",
          "description": "The member who did it."
        },
        "action": {
          "type": "string",
          "maxLength": 64,
          "description": "What happened, such as `token.revoked`."
        },
        "subjectId": {
          "type": "string",
          "format": "uuid",
          "description": "The token, member or session it was done to."
        },
        "from": {
          "type": "string",
          "format": "date-time",
          "description": "Entries since then."
        },
        "to": {
          "type": "string",
          "format": "date-time",
          "description": "Entries before then."
        }
      },
      "additionalProperties": false
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "data",
        "pagination",
        "searchedFrom"
      ],
      "properties": {
        "data": {
          "type": "array",
          "items": {
            "type": "object",
            "required": [
              "id",
              "action",
              "actorId",
              "credential",
              "address",
              "userAgent",
              "subjectId",
              "reason",
              "detail",
              "changes",
              "createdAt"
            ],
            "properties": {
              "id": {
                "type": "string",
                "format": "uuid"
              },
              "action": {
                "type": "string",
                "description": "What happened, such as `token.revoked`."
              },
              "actorId": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "The member who did it; null for the platform, and for a sign-in that failed."
              },
              "credential": {
                "anyOf": [
                  {
                    "type": "object",
                    "required": [
                      "kind",
                      "id"
                    ],
                    "properties": {
                      "kind": {
                        "type": "string"
                      },
                      "id": {
                        "type": "string"
                      }
                    }
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "The session (`session`) or token (`pat`) it was done with; null where there was none."
              },
              "address": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "The IP address that it came from."
              },
              "userAgent": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "What the client said it is."
              },
              "subjectId": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "The token, member or session it was done to."
              },
              "reason": {
                "anyOf": [
                  {
                    "type": "string"
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "Why, as the caller said."
              },
              "detail": {
                "type": "object",
                "additionalProperties": true
              },
              "changes": {
                "type": "object",
                "description": "What each changed field was, and what it is now. Never a secret.",
                "additionalProperties": {
                  "type": "object",
                  "required": [
                    "from",
                    "to"
                  ],
                  "properties": {
                    "from": {
                      "anyOf": [
                        {
                          "type": "string"
                        },
                        {
                          "type": "number"
                        },
                        {
                          "type": "null"
                        }
                      ]
                    },
                    "to": {
                      "anyOf": [
                        {
                          "type": "string"
                        },
                        {
                          "type": "number"
                        },
                        {
                          "type": "null"
                        }
                      ]
                    }
                  }
                }
              },
              "createdAt": {
                "type": "string",
                "format": "date-time"
              }
            },
            "title": "AuditEntry"
          }
        },
        "pagination": {
          "type": "object",
          "required": [
            "page",
            "limit",
            "total",
            "totalPages"
          ],
          "properties": {
            "page": {
              "type": "integer"
            },
            "limit": {
              "type": "integer"
            },
            "total": {
              "type": "integer"
            },
            "totalPages": {
              "type": "integer"
            }
          }
        },
        "searchedFrom": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "With a filter: the time of the oldest entry that was looked at, when there are older ones. Ask again with `to`."
        }
      }
    }
  },
  "getSmtpConfig": {
    "method": "GET",
    "path": "/api/v1/configurationManager/smtpConfig",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "smtp"
      ],
      "properties": {
        "smtp": {
          "type": "object",
          "required": [
            "host",
            "port",
            "fromEmail",
            "tls"
          ],
          "properties": {
            "host": {
              "type": "string"
            },
            "port": {
              "type": "integer"
            },
            "fromEmail": {
              "type": "string"
            },
            "username": {
              "type": "string"
            },
            "tls": {
              "type": "string",
              "enum": [
                "auto",
                "starttls",
                "implicit",
                "none"
              ]
            }
          },
          "title": "SmtpConfig"
        }
      }
    }
  },
  "saveSmtpConfig": {
    "method": "POST",
    "path": "/api/v1/configurationManager/smtpConfig",
    "body": {
      "type": "object",
      "properties": {
        "host": {
          "type": "string",
          "minLength": 1,
          "maxLength": 253
        },
        "port": {
          "type": "integer",
          "minimum": 1,
          "maximum": 65535,
          "default": 587
        },
        "fromEmail": {
          "type": "string",
          "maxLength": 254,
          "format": "email"
        },
        "username": {
          "type": "string",
          "minLength": 1,
          "maxLength": 320,
          "description": "Without it, no login is tried."
        },
        "password": {
          "type": "string",
          "minLength": 1,
          "maxLength": 1024,
          "description": "Never returned. A save replaces the whole configuration, this included."
        },
        "tls": {
          "type": "string",
          "enum": [
            "auto",
            "starttls",
            "implicit",
            "none"
          ],
          "default": "auto"
        }
      },
      "additionalProperties": false,
      "required": [
        "host",
        "fromEmail"
      ]
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message",
        "smtp"
      ],
      "properties": {
        "message": {
          "type": "string"
        },
        "smtp": {
          "type": "object",
          "required": [
            "host",
            "port",
            "fromEmail",
            "tls"
          ],
          "properties": {
            "host": {
              "type": "string"
            },
            "port": {
              "type": "integer"
            },
            "fromEmail": {
              "type": "string"
            },
            "username": {
              "type": "string"
            },
            "tls": {
              "type": "string",
              "enum": [
                "auto",
                "starttls",
                "implicit",
                "none"
              ]
            }
          },
          "title": "SmtpConfig"
        }
      }
    }
  },
  "removeSmtpConfig": {
    "method": "DELETE",
    "path": "/api/v1/configurationManager/smtpConfig",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message"
      ],
      "properties": {
        "message": {
          "type": "string"
        }
      }
    }
  },
  "getSignInConfig": {
    "method": "GET",
    "path": "/api/v1/configurationManager/signInConfig",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "signIn"
      ],
      "properties": {
        "signIn": {
          "type": "object",
          "required": [
            "codesEnabled"
          ],
          "properties": {
            "codesEnabled": {
              "type": "boolean",
              "description": "Whether members can sign in with mailed codes."
            }
          },
          "additionalProperties": false,
          "title": "SignInSettings"
        }
      }
    }
  },
  "saveSignInConfig": {
    "method": "POST",
    "path": "/api/v1/configurationManager/signInConfig",
    "body": {
      "type": "object",
      "required": [
        "codesEnabled"
      ],
      "properties": {
        "codesEnabled": {
          "type": "boolean",
          "description": "Whether members can sign in with mailed codes."
        }
      },
      "additionalProperties": false,
      "title": "SignInSettings"
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "message",
        "signIn"
      ],
      "properties": {
        "message": {
          "type": "string"
        },
        "signIn": {
          "type": "object",
          "required": [
            "codesEnabled"
          ],
          "properties": {
            "codesEnabled": {
              "type": "boolean",
              "description": "Whether members can sign in with mailed codes."
            }
          },
          "additionalProperties": false,
          "title": "SignInSettings"
        }
      }
    }
  },
  "getToolEndpointMetadata": {
    "method": "GET",
    "path": "/.well-known/oauth-protected-resource/mcp",
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "resource",
        "resource_name",
        "scopes_supported",
        "bearer_methods_supported"
      ],
      "properties": {
        "resource": {
          "type": "string"
        },
        "resource_name": {
          "type": "string"
        },
        "scopes_supported": {
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "bearer_methods_supported": {
          "type": "array",
          "items": {
            "type": "string"
          }
        }
      }
    }
  },
  "callTools": {
    "method": "POST",
    "path": "/mcp",
    "body": {
      "type": "object",
      "required": [
        "jsonrpc",
        "method"
      ],
      "properties": {
        "jsonrpc": {
          "type": "string",
          "const": "2.0"
        },
        "id": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "integer"
            }
          ]
        },
        "method": {
          "type": "string",
          "description": "Such as `tools/list` or `tools/call`."
        },
        "params": {
          "type": "object",
          "additionalProperties": {}
        }
      },
      "title": "ToolMessage"
    },
    "status": 200,
    "answer": {
      "type": "object",
      "required": [
        "jsonrpc"
      ],
      "properties": {
        "jsonrpc": {
          "type": "string",
          "const": "2.0"
        },
        "id": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "number"
            },
            {
              "type": "null"
            }
          ]
        },
        "result": {
          "type": "object",
          "additionalProperties": {}
        },
        "error": {
          "type": "object",
          "required": [
            "code",
            "message"
          ],
          "properties": {
            "code": {
              "type": "integer"
            },
            "message": {
              "type": "string"
            },
            "data": {}
          }
        }
      },
      "title": "ToolAnswer"
    }
  }
};

type IdentityOperationId =
  | 'login'
  | 'requestCode'
  | 'forgotPassword'
  | 'describeLink'
  | 'resetPassword'
  | 'acceptInvitation'
  | 'getSigningKeys'
  | 'logout'
  | 'getMe'
  | 'createToken'
  | 'listOwnTokens'
  | 'revokeOwnToken'
  | 'listTokenActivity'
  | 'listGrantableScopes'
  | 'listUsers'
  | 'createUser'
  | 'changeUser'
  | 'removeUser'
  | 'listOrganisationTokens'
  | 'revokeOrganisationToken'
  | 'listAuditEntries'
  | 'getSmtpConfig'
  | 'saveSmtpConfig'
  | 'removeSmtpConfig'
  | 'getSignInConfig'
  | 'saveSignInConfig'
  | 'getToolEndpointMetadata'
  | 'callTools';
