import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OutboxModule } from '../outbox/outbox.module.js';
import { AccountEntity } from './account.entity.js';
import { AccountService } from './account.service.js';
import { AccountStore } from './account.store.js';
import { AccountKeyEntity } from './account-key.entity.js';
import { AccountKeyService } from './account-key.service.js';
import { AccountKeyStore } from './account-key.store.js';
import { IdentityService } from './identity.service.js';
import { MemberEntity } from './member.entity.js';
import { MemberLinkEntity } from './member-link.entity.js';
import { MemberLinkService } from './member-link.service.js';
import { MemberLinkStore } from './member-link.store.js';
import { MemberService } from './member.service.js';
import { MemberStore } from './member.store.js';
import { PasswordHasher } from './password-hasher.js';

/** The tenant: accounts, their members and keys. */
@Module({
  imports: [OutboxModule, TypeOrmModule.forFeature([AccountEntity, MemberEntity, MemberLinkEntity, AccountKeyEntity])],
  providers: [
    AccountService,
    MemberService,
    MemberLinkService,
    IdentityService,
    AccountKeyService,
    PasswordHasher,
    AccountStore,
    MemberStore,
    MemberLinkStore,
    AccountKeyStore,
  ],
  exports: [AccountService, MemberService, MemberLinkService, IdentityService, AccountKeyService, PasswordHasher],
})
export class AccountModule {}
